// The room DeviceInit; its first file replaces this one.
