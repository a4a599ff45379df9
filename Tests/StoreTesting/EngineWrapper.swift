package import ObjectStore

/// An engine that changes some of the behavior of another, with which it has everything else in common.
package protocol EngineWrapper: ObjectEngine {
    var base: MemoryEngine { get }
}

extension EngineWrapper {
    package func hasPlaces(_ fileID: String) -> Bool { base.hasPlaces(fileID) }
    package func freeBytes() throws -> Int64? { try base.freeBytes() }
    package func sizeBytes() throws -> Int64? { try base.sizeBytes() }
    package func start(_ start: EngineStart) throws -> any EngineUpkeep { try base.start(start) }
    package func createMultipart() throws -> NewFile { try base.createMultipart() }
    package func receivePart(at position: Int64, of fileID: String) throws -> any BodySink {
        try base.receivePart(at: position, of: fileID)
    }
    package func duplicate(_ fileID: String) throws -> NewFile { try base.duplicate(fileID) }
    package func complete(_ fileID: String, _ parts: [EnginePart]) throws { try base.complete(fileID, parts) }
    package func resolve(_ fileID: String) { base.resolve(fileID) }
    package func keep(_ fileID: String) { base.keep(fileID) }
    package func seal(_ fileID: String) { base.seal(fileID) }
    package func open(_ fileID: String) throws -> any StoredBytes { try base.open(fileID) }
    package func openToExamine(_ fileID: String) throws -> any StoredBytes { try open(fileID) }
    package func remove(_ fileID: String) throws { try base.remove(fileID) }
    package func removeDurably(_ fileIDs: [String]) throws -> [String] {
        for fileID in fileIDs { try remove(fileID) }
        return fileIDs
    }
    package func hasFacts(of fileID: String) throws -> Bool { try base.hasFacts(of: fileID) }
    package func writeFacts(_ facts: [UInt8], of fileID: String) throws { try base.writeFacts(facts, of: fileID) }
    package func synchronizeFacts(of fileID: String) throws {}
    package func facts(of fileID: String) -> [UInt8]? { base.facts(of: fileID) }
}
