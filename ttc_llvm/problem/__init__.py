"""Problems: the user's terms, the canonical form, data types, names and wording."""
