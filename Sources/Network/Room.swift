// The room Network; its first file replaces this one.
