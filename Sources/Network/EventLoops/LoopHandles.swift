import CUV

/// The memory of a libuv loop and of its own handles, which libuv addresses. Confined to its loop, but for `wakeUp`.
struct LoopHandles {
    let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    let wakeUp = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    let beforePoll = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
    let afterPoll = UnsafeMutablePointer<uv_check_t>.allocate(capacity: 1)
    /// Active while work is left, so that polling does not wait.
    let whileBusy = UnsafeMutablePointer<uv_idle_t>.allocate(capacity: 1)
    let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)

    /// Closes the handles, after which the loop ends when all others are closed.
    func close() {
        Self.close(whileBusy)
        Self.close(wakeUp)
        Self.close(beforePoll)
        Self.close(afterPoll)
        Self.close(timer)
    }

    /// Frees the memory; called when the loop has ended.
    func deallocate() {
        wakeUp.deallocate()
        beforePoll.deallocate()
        afterPoll.deallocate()
        whileBusy.deallocate()
        timer.deallocate()
        loop.deallocate()
    }

    private static func close(_ handle: UnsafeMutableRawPointer) {
        uv_close(handle.assumingMemoryBound(to: uv_handle_t.self), nil)
    }
}

/// The memory that the connections of a loop use one after the other.
struct LoopBuffers {
    /// Sockets read into it; its contents are consumed before the next read.
    let read = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    /// A connection's frames are combined in it for one write.
    let write = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    func deallocate() {
        read.deallocate()
        write.deallocate()
    }
}
