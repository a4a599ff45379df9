import Basics
import CMicrohttpd
import Glibc
import HTTPTypes

/// Sends bodies past libmicrohttpd, which lets the kernel send the bytes of at most one file for a response. Used on the thread of the
/// connection, whose socket does not block.
extension DaemonConnection {
    /// The outcome of sending.
    enum Sending {
        case sent
        /// The client disconnected, or was too slow.
        case disconnected
        /// The file is shorter than its range, or cannot be read.
        case unreadable
    }

    /// The milliseconds after which ``finishSending()`` looks again at what the client has acknowledged.
    private static let acknowledgementInterval: Int32 = 10

    /// Sends a piece of a body. It may stay in the kernel until more bytes follow, or ``finishSending()``.
    ///
    /// - Parameter buffer: contains the bytes, unless they are in a file, and has space for as many.
    func send(_ piece: HTTPBodyPiece, through buffer: UnsafeMutableRawBufferPointer) -> Sending {
        switch piece {
        case .buffered(let count):
            send(UnsafeRawBufferPointer(rebasing: buffer[..<count])) ? .sent : .disconnected
        case .file(let file, let offset, let count):
            file.withDescriptor { send(off_t(offset)..<off_t(offset) + off_t(count), of: $0, through: buffer) }
        }
    }

    private func send(
        _ range: Range<off_t>, of file: Int32, through buffer: UnsafeMutableRawBufferPointer
    ) -> Sending {
        var position = range.lowerBound
        while position < range.upperBound {
            let rest = Int(range.upperBound - position)
            let sent = sendfile(descriptor, file, &position, rest)
            if sent > 0 || sent < 0 && errno == EINTR { continue }
            if sent < 0, errno == EAGAIN {
                guard waitForSpace() else { return .disconnected }
                continue
            }
            // Some file systems do not support sendfile. If the file ended or the disk failed, reading fails as well.
            let count = pread(file, buffer.baseAddress, rest, position)
            guard count > 0 else { return .unreadable }
            guard send(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return .disconnected }
            position += off_t(count)
        }
        return .sent
    }

    private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_MORE | MSG_NOSIGNAL))
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                guard waitForSpace() else { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Waits until the socket takes bytes; returns `false` if it takes none in the idle time.
    private func waitForSpace() -> Bool {
        waitFor(POLLOUT, milliseconds: Int32(clamping: idleTimeout.wholeSeconds * 1000))
    }

    /// Returns whether the socket was ready in that time, or has failed.
    private func waitFor(_ event: Int32, milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        while true {
            let count = poll(&entry, 1, milliseconds)
            if count >= 0 || errno != EINTR { return count > 0 }
        }
    }

    /// Waits until the client has acknowledged every byte or ended its side, and drops what it sends meanwhile: closing a socket with
    /// unread bytes resets the connection, and discards the bytes that are still to be sent.
    ///
    /// - Returns: `false` if the client disconnected before that, or acknowledged nothing in the idle time.
    func finishSending() -> Bool {
        guard shutdown(descriptor, Int32(SHUT_WR)) == 0 else { return false }
        var (unacknowledged, since) = (Int32.max, ContinuousClock.now)
        while true {
            if let hasEnded = dropInput() { return hasEnded }
            let count = microhttpd_unacknowledged(descriptor)
            if count <= 0 { return count == 0 }
            if count != unacknowledged { (unacknowledged, since) = (count, .now) }
            guard ContinuousClock.now - since < idleTimeout else { return false }
            _ = waitFor(POLLIN, milliseconds: Self.acknowledgementInterval)
        }
    }

    /// Drops some of what the client has sent.
    ///
    /// - Returns: `true` if the client has ended its side, `false` if the connection has failed, `nil` otherwise.
    private func dropInput() -> Bool? {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { space in
            let count = recv(descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
            if count == 0 { return true }
            return count > 0 || errno == EAGAIN || errno == EINTR ? nil : false
        }
    }
}
