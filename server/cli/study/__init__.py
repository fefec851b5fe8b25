"""Commands to study: single decisions and spots, and the reasons for them."""
