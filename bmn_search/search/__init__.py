"""Strategies that look for long games and for games that never end."""
