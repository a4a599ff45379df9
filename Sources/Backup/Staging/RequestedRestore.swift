import Basics
import Database
import DirectoryEngine
import ObjectStore

/// Does at a start what a person has requested of the running gateway, before the data directory is served: replaces the data by a
/// staged archive, or by the previous data. See ``RestoreFolder``.
struct RequestedRestore {
    let folder: RestoreFolder
    let migrations: [Migration]
    let now: UnixTime
    let log: Logger

    /// Returns whether a start has something to do for a restore.
    ///
    /// - Throws: if that cannot be found out.
    static func isPending(in directory: String) throws(PrivateFile.Failure) -> Bool {
        let path = RestoreFolder(directory: directory).path
        let isRequested = try PrivateFile.exists(path + "/request")
        let isBegun = try PrivateFile.exists(path + "/switch")
        return isRequested || isBegun
    }

    /// - Throws: `DataDirectory.Problem` and others if the data cannot be served: a later start has to complete the replacement.
    func run() throws {
        guard try PrivateFile.exists(folder.path) else { return }
        if let started = try folder.switching.read(in: folder) {
            log.write(
                "a restore that was interrupted is completed", ["previous_data": started.previous], level: .warning)
            try complete(started, RestoreRequest(source: .archive, requestedBy: started.result.requestedBy))
        } else if let request = try folder.request.read(in: folder) {
            try begin(request)
        } else {
            try tidy()
        }
    }

    private func begin(_ request: RestoreRequest) throws {
        let started: DataSwitch
        do {
            started = try prepare(request)
            try folder.switching.write(started, in: folder)
        } catch {
            // A failed write may have reached the disk, or not: it is removed before the request.
            try folder.switching.remove(in: folder)
            return try giveUp(request, "\(error)")
        }
        try complete(started, request)
    }

    /// Makes the new data, and changes nothing else.
    private func prepare(_ request: RestoreRequest) throws -> DataSwitch {
        var result = RestoreResult(request, at: now)
        let previous = folder.newPrevious(at: now)
        switch request.source {
        case .previous(let name):
            return try DataSwitch(from: name, to: previous, in: folder.directory, result: result)
        case .archive:
            log.write("the requested restore begins", ["requested_by": request.requestedBy])
            try folder.remove(folder.new)
            try PrivateFile.makeFolder(folder.new)
            try linkStore()
            let outcome = try Restore.run(
                from: folder.archive, passphrase: nil, into: .init(folder.new), migrations: migrations, now: now)
            result.count(outcome)
            return try DataSwitch(from: "restore/new", to: previous, in: folder.directory, result: result)
        }
    }

    /// Gives the new data the present store's finished files, if the archive was taken from this store.
    private func linkStore() throws {
        let present = OfflineStore(directory: folder.directory + "/store")
        guard let identity = try present.identity, let description = try folder.description.read(in: folder),
            description.storeID == identity.id
        else { return }
        // Only finished files are linked. If the database cannot be read, those without their mark stay in the previous data.
        _ = try? Database.inspect(path: folder.directory + "/gateway.db") { try present.seal(objectsOf: $0) }
        let new = try OfflineStore.make(directory: folder.new + "/store")
        try present.linkFinishedFiles(to: new)
        try new.setIdentity(identity)
    }

    private func complete(_ started: DataSwitch, _ request: RestoreRequest) throws {
        do {
            try started.run(in: folder.directory)
        } catch let undone as DataSwitch.Undone {
            try folder.switching.remove(in: folder)
            return try giveUp(request, undone.description)
        }
        // First, because the disk may be full of it, and the result needs space.
        try folder.removeArchive()
        try folder.remove(folder.new)
        try folder.outcome.write(started.result, in: folder)
        try folder.request.remove(in: folder)
        // Previous data that were put back leave an empty folder.
        if started.source != "restore/new" { try folder.remove("\(folder.directory)/\(started.source)") }
        try PrivateFile.synchronizeFolder(folder.directory)
        try folder.switching.remove(in: folder)
        log.write(
            "the data were replaced as requested",
            [
                "backup_time": started.result.createdAt ?? "",
                "previous_data": "\(folder.directory)/\(started.previous)",
                "requested_by": started.result.requestedBy,
            ])
    }

    /// Keeps the present data.
    private func giveUp(_ request: RestoreRequest, _ reason: String) throws {
        var result = RestoreResult(request, at: now)
        if request.source == .archive { result.createdAt = try folder.description.read(in: folder)?.createdAt }
        result.failure = reason
        // First, because the disk may be full of it, and the result needs space.
        try folder.remove(folder.new)
        try folder.outcome.write(result, in: folder)
        try folder.request.remove(in: folder)
        log.write(
            "the requested restore failed",
            ["error": reason, "consequence": "the present data are served"], level: .error)
    }

    /// Removes what a killed gateway has left, and keeps a complete archive.
    private func tidy() throws {
        for path in [folder.partial, folder.scratch, folder.new] { try folder.remove(path) }
        if folder.staged == nil { try folder.removeArchive() }
        folder.beginRemovingDeleted(log)
    }
}
