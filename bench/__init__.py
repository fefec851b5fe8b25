"""Speed and quality figures: each module prints one JSON line. Nothing but the command line reaches in here."""
