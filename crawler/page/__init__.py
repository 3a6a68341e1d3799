"""What a page says: type, encoding, text, links, directives. Bytes in, facts out; no network, no Ray."""
