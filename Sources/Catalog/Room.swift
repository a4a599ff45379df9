// The room Catalog; its first file replaces this one.
