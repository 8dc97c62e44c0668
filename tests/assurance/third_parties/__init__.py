"""Other products in the same application: what they do is the same with sparkconfig and without it."""
