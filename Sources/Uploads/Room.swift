// The room Uploads; its first file replaces this one.
