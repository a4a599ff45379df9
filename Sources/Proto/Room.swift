// The room Proto; its first file replaces this one.
