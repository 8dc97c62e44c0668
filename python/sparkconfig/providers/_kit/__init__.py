"""What providers are made with."""
