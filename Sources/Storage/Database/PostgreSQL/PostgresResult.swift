import CPQ
import Glibc

/// Rows of a statement: all, or one of ``PostgresRows``; or the error of one.
///
/// Values are read by the types of their columns, in the binary format or, after a simple query, as texts.
final class PostgresResult {
    /// The types that hold numbers, by their object identifiers in the catalog.
    private enum NumberType {
        static let bool: Oid = 16
        static let int8: Oid = 20
        static let int2: Oid = 21
        static let int4: Oid = 23
        static let oid: Oid = 26
        static let float4: Oid = 700
        static let float8: Oid = 701
        static let numeric: Oid = 1700
        static let all = [bool, int8, int2, int4, oid, float4, float8, numeric]
    }

    private let handle: OpaquePointer
    let rowCount: Int32
    let columnCount: Int32

    /// Takes over the result.
    init(_ handle: OpaquePointer) {
        self.handle = handle
        rowCount = PQntuples(handle)
        columnCount = PQnfields(handle)
    }

    deinit {
        PQclear(handle)
    }

    /// The SQLSTATE of an error, which is empty for an error of the connection; `nil` = no error.
    var state: String? {
        switch PQresultStatus(handle) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE, PGRES_EMPTY_QUERY: nil
        default: cpq_state(handle).map { String(cString: $0) } ?? ""
        }
    }

    /// Whether the error is that a prepared statement cannot be used any more: the tables have changed since it was prepared, or
    /// somebody has dropped it.
    var isOfExpiredStatement: Bool {
        // Of all features that are not supported, it is the one that another state of the tables would support.
        state == "26000"
            || state == "0A000" && cpq_function(handle).map { String(cString: $0) } == "RevalidateCachedQuery"
    }

    var message: String { String(cString: cpq_message(handle) ?? UnsafePointer(PQresultErrorMessage(handle))) }

    /// The command that has ended, such as `COMMIT` or `INSERT 0 1`.
    var command: String { String(cString: PQcmdStatus(handle)) }

    var changedRows: Int { PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// Whether a column has this name, without regard to case.
    func isColumn(_ column: Int32, named name: UnsafePointer<CChar>) -> Bool {
        strcasecmp(PQfname(handle, column), name) == 0
    }

    func isNull(_ row: Int32, _ column: Int32) -> Bool { PQgetisnull(handle, row, column) != 0 }

    /// Whether a column has numbers, which have no size of their own.
    private func isNumber(_ column: Int32) -> Bool { NumberType.all.contains(PQftype(handle, column)) }

    /// The sum of the sizes of a row's texts and blobs, in bytes.
    func contentBytes(_ row: Int32) -> Int {
        var count = 0
        for column in 0..<columnCount where !isNumber(column) { count += Int(PQgetlength(handle, row, column)) }
        return count
    }

    func blob(_ row: Int32, _ column: Int32) -> [UInt8] { Array(bytes(row, column)) }

    func text(_ row: Int32, _ column: Int32) -> String {
        let bytes = bytes(row, column)
        guard isBinary(column), isNumber(column), !isNull(row, column) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        let type = PQftype(handle, column)
        return type == NumberType.float8 || type == NumberType.float4
            ? "\(double(bytes))" : "\(int64(row, column))"
    }

    /// Returns a number as an integer; NULL is 0, a fraction is dropped.
    func int64(_ row: Int32, _ column: Int32) -> Int64 {
        let bytes = bytes(row, column)
        guard !bytes.isEmpty else { return 0 }
        guard isBinary(column) else { return Self.integer(of: String(decoding: bytes, as: UTF8.self)) }
        return switch PQftype(handle, column) {
        case NumberType.int8: Self.load(bytes, as: Int64.self)
        case NumberType.int4: Int64(Self.load(bytes, as: Int32.self))
        case NumberType.oid: Int64(Self.load(bytes, as: UInt32.self))
        case NumberType.int2: Int64(Self.load(bytes, as: Int16.self))
        case NumberType.bool: Int64(bytes[0])
        case NumberType.numeric: Self.numeric(bytes)
        case NumberType.float8, NumberType.float4: Self.integer(of: double(bytes))
        default: Self.integer(of: String(decoding: bytes, as: UTF8.self))
        }
    }

    private func bytes(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
    }

    private func isBinary(_ column: Int32) -> Bool { PQfformat(handle, column) == 1 }

    private static func load<Value: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer, as type: Value.Type) -> Value {
        Value(bigEndian: bytes.loadUnaligned(as: type))
    }

    private func double(_ bytes: UnsafeRawBufferPointer) -> Double {
        bytes.count == 8
            ? Double(bitPattern: Self.load(bytes, as: UInt64.self))
            : Double(Float(bitPattern: Self.load(bytes, as: UInt32.self)))
    }

    /// Returns the integer at the beginning of a text, as SQLite does; 0 without one.
    private static func integer(of text: String) -> Int64 {
        Int64(text) ?? Double(text).map(integer) ?? (text == "t" ? 1 : 0)
    }

    private static func integer(of number: Double) -> Int64 {
        number.isNaN ? 0 : number >= 0x1p63 ? .max : number < -0x1p63 ? .min : Int64(number)
    }

    /// Returns the integer part of a NUMERIC, which is the type of sums: digits to the base 10,000, the first of which counts
    /// 10,000 to the power of `weight`.
    private static func numeric(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        let words = stride(from: 0, to: bytes.count - 1, by: 2).map { offset in
            load(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + 2]), as: Int16.self)
        }
        guard words.count >= 4, words[1] >= 0 else { return 0 }
        let isNegative = words[2] == 0x4000
        var value: Int64 = 0
        for index in 0...Int(words[1]) {
            let digit = 4 + index < words.count ? Int64(words[4 + index]) : 0
            // Negative numbers have one value more.
            let (product, overflow) = value.multipliedReportingOverflow(by: 10_000)
            let (difference, underflow) = product.subtractingReportingOverflow(digit)
            if overflow || underflow { return isNegative ? .min : .max }
            value = difference
        }
        return isNegative ? value : value == .min ? .max : -value
    }
}
