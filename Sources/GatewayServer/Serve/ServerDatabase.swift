import Basics
import Capability
import Database
import S3Engine

/// The database on a server as a capability: it ends the gateway if another one takes the database over.
struct ServerDatabase: Capability {
    /// Another gateway has the right to the database.
    struct TakenOver: Error, CustomStringConvertible {
        let description = "another gateway has taken the database over"
    }

    let database: Database
    let server: PostgresServer
    /// Notified when the right is lost.
    let loss: Signal

    var background: [BackgroundWork] {
        [
            BackgroundWork("database_lease") {
                await loss.wait(after: 0)
                if !Task.isCancelled { throw TakenOver() }
            }
        ]
    }
}

extension LeaseHolder {
    /// Makes the holder of this process.
    ///
    /// - Parameter dataDirectory: locked by this process.
    static func current(dataDirectory: String) -> LeaseHolder {
        let holder = PrefixHolder.current(dataDirectory: dataDirectory, clock: SystemClock())
        return LeaseHolder(id: holder.id, directory: holder.directory, description: "\(holder)")
    }
}
