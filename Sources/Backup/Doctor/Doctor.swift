import Accounts
import Basics
import Database
import Foundation
import ObjectStore
import Uploads

/// Looks at a gateway that does not run: is the database whole, does the store hold what it speaks of, is there anything
/// that it does not speak of. Changes nothing unless it is told to.
package struct Doctor: Sendable {
    /// A completed upload that can be listed again, or a file of which nothing is known.
    package struct Unlisted: Sendable {
        package let fileID: String
        /// Bytes.
        package let size: Int64
        /// When CompleteUpload was answered or, where nothing is known, when the file was last written.
        package let at: UnixTime
        /// Nil where CompleteUpload was never answered: it can only be deleted.
        package let facts: ObjectFacts?
    }

    package struct Report: Sendable {
        /// Damage of the database file; empty where there is none.
        package var damages: [String] = []
        /// Whether database and store are of the same age.
        package var belongTogether = true
        /// Objects whose file is gone or has another size, by file id.
        package var missing = Tally()
        /// Objects whose bytes are not those that were stored; looked at with `checksums` only.
        package var damaged = Tally()
        /// Uploads under way whose file is gone: their clients are told to restart.
        package var interrupted = Tally()
        /// Finished files in their place that the database does not know as such.
        package var unknown = Tally()
        /// Files of uploads under way that no row speaks of; the gateway removes them once they are 30 days old.
        package var stray = Tally()
        /// In quarantine.
        package var quarantined: [Unlisted] = []
        /// Completed uploads, whose file is in its place, that are in no list.
        package var unlisted: [Unlisted] = []

        /// Whether there is nothing to do.
        package var isInOrder: Bool {
            damages.isEmpty && belongTogether && missing.count == 0 && damaged.count == 0 && unknown.count == 0
                && quarantined.isEmpty && unlisted.isEmpty
        }
    }

    let directory: DataDirectory
    let migrations: [Migration]
    private let store: OfflineStore

    /// - Parameters:
    ///   - directory: locked for as long as the doctor lives.
    ///   - migrations: of this program.
    package init(_ directory: DataDirectory, migrations: [Migration]) {
        self.directory = directory
        self.migrations = migrations
        store = OfflineStore(directory: directory.store)
    }

    /// - Parameter checksums: whether every object's data is read.
    /// - Throws: `DataDirectory.Problem`, `DatabaseError`.
    package func examine(checksums: Bool) throws -> Report {
        try Database.inspect(path: directory.database) { connection in
            guard try connection.pending(migrations).isEmpty else {
                throw DataDirectory.Problem(
                    description:
                        "the database was written by an older data-gateway: start this version once, then run doctor again"
                )
            }
            var report = Report()
            let records = DoctorRecords(connection: connection)
            report.damages = try records.damages()
            let recorded = try StoreIdentity.recorded(in: connection)
            report.belongTogether = try store.identity.map { recorded?.belongs(to: $0) ?? false } ?? (recorded == nil)
            for fileID in try records.withoutStoredObject() { report.missing.add(fileID) }
            try store.compare(with: connection, checksums: checksums) { finding in
                switch finding {
                case .missing(let file): report.missing.add(file.fileID)
                case .damaged(let file): report.damaged.add(file.fileID)
                case .uploadWithoutFile(let fileID): report.interrupted.add(fileID)
                case .unknown(let fileID, _): report.unknown.add(fileID)
                case .stray(let fileID, _): report.stray.add(fileID)
                }
            }
            report.quarantined = try quarantined()
            report.unlisted = try unlisted(records)
            return report
        }
    }

    /// The oldest first.
    func quarantined() throws -> [Unlisted] {
        try store.quarantined().map { file in
            let facts = facts(of: file.fileID).flatMap { $0.isOf(fileID: file.fileID, size: file.size) ? $0 : nil }
            return Unlisted(
                fileID: file.fileID, size: file.size, at: facts?.completedAt ?? file.modifiedAt, facts: facts)
        }.sorted { ($0.at, $0.fileID) < ($1.at, $1.fileID) }
    }

    /// The oldest first.
    func unlisted(_ records: DoctorRecords) throws -> [Unlisted] {
        var found: [Unlisted] = []
        var last = ""
        while true {
            let page = try records.unlisted(after: last, limit: 1000)
            guard let end = page.last else { break }
            last = end
            // Without facts it was never completed, and its device goes on with it.
            for facts in page.compactMap({ facts(of: $0) }) where try store.holdsFile(facts.fileID) {
                found.append(
                    Unlisted(fileID: facts.fileID, size: facts.size, at: facts.completedAt, facts: facts))
            }
        }
        return found.sorted { ($0.at, $0.fileID) < ($1.at, $1.fileID) }
    }

    private func facts(of fileID: String) -> ObjectFacts? {
        store.facts(of: fileID).flatMap { ObjectFacts($0) }
    }
}
