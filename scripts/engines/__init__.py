"""The SQL of the gateway on both engines: the texts in Sources, the schema, and a PostgreSQL to try them on."""
