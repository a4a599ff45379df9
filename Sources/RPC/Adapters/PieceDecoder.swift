/// Takes a request whose body is a stream of bytes: each piece that comes is a message.
struct PieceDecoder {
    private let limit: Int
    private var hasDelivered = false

    /// - Parameter limit: the longest piece, in bytes.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    mutating func receive(_ data: UnsafeRawBufferPointer, deliver: RequestDecoder.Deliver) {
        var start = 0
        while start < data.count {
            let end = min(data.count, start + limit)
            deliver(UnsafeRawBufferPointer(rebasing: data[start..<end]), false)
            hasDelivered = true
            start = end
        }
    }

    /// Where no byte came, the fields beside the body are a message nevertheless.
    mutating func receiveEnd(deliver: RequestDecoder.Deliver) {
        if !hasDelivered { deliver(UnsafeRawBufferPointer(start: nil, count: 0), false) }
        hasDelivered = true
    }
}
