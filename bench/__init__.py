"""Speed and quality figures: each module prints one JSON line. Only the command line reaches in here."""
