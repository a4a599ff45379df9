/// The parts of a database that belong to its file; a database on a server has none of them.
struct DatabaseFile: Sendable {
    let log: WriteAheadLog
    let reserve: DiskReserve
    let checkpoints: Checkpoints
}
