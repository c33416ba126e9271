"""Composition root: builds the services and hands them to the window."""
