"""What this process shows: one module for each way out."""
