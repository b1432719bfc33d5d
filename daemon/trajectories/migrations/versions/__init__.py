"""One script for each schema number, in the order of their numbers."""
