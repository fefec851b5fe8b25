"""Commands to train blueprints and to work with their files."""
