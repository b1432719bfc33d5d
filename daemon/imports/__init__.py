"""Bringing in what a person already has: the workspace of another agent, or a folder of Markdown such as Obsidian's."""
