"""Moving an application that has its secrets in clear: find them, seal them, put references in their places."""
