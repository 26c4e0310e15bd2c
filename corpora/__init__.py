"""Pages that the project made itself: see README.md beside this file."""
