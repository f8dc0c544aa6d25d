"""The notebook: live edits, pictures, and the player."""
