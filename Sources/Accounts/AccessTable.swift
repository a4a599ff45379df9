import Protobuf

/// The callers for each RPC. Methods that it does not contain are closed to everybody.
///
/// The gateway's own table is ``gateway``; modules with services of their own add theirs with ``adding(_:)``.
package struct AccessTable: Sendable {
    package typealias Row = (access: Access, methods: [MethodDescriptor])

    private let accesses: [String: Access]

    /// - Parameter rows: a method in two rows traps, because one of them would be without effect.
    package init(_ rows: [Row]) {
        accesses = rows.reduce(into: [:]) { accesses, row in
            for method in row.methods {
                let earlier = accesses.updateValue(row.access, forKey: method.path)
                precondition(earlier == nil, "\(method.path) is twice in the access table")
            }
        }
    }

    private init(accesses: [String: Access]) {
        self.accesses = accesses
    }

    /// Returns the table with the methods of another one; a method in both traps.
    package func adding(_ other: AccessTable) -> AccessTable {
        AccessTable(
            accesses: accesses.merging(other.accesses) { _, _ in
                preconditionFailure("two modules have the same method in their access tables")
            })
    }

    /// - Parameter path: an HTTP/2 `:path`, e.g. `/archebase.auth.v1.AuthService/Login`.
    package func access(to path: String) -> Access? {
        accesses[path]
    }

    /// Whether calls of a method leave no line in the audit log.
    ///
    /// - Parameter method: its name without the service's.
    static func onlyReads(_ method: String) -> Bool {
        method.hasPrefix("Get") || method.hasPrefix("List")
    }
}
