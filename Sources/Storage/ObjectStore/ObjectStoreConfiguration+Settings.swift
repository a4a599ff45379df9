package import Settings

extension ObjectStoreConfiguration {
    /// Reads the keys of the section `object_store` about the disk and the memory.
    package init(_ settings: SettingsReader) {
        self.init()
        let section = settings.section("object_store")
        minimumFreeBytes = section.integer(
            "min_free_bytes", default: minimumFreeBytes, in: 0...(1 << 50), unit: "bytes")
        directIO = section.flag("direct_io", default: true) ? .probe : .off
        bufferBytes = section.integer(
            "max_buffer_bytes", default: bufferBytes, in: (4 << 20)...(1 << 40), unit: "bytes")
    }
}
