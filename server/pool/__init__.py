"""Worker processes that solve decisions, and who shares them out."""
