"""Worker processes that solve decisions, and the dispatcher that assigns decisions to them."""
