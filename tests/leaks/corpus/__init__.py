"""Jobs that show their secrets wherever a job can, one module for each kind; `leaks.audit` runs them."""
