//! Turns a stored run into text, Markdown, CSV and JSON.
