import TestSupport
import Testing

@testable import Basics

@Suite(.timeLimited) struct GenerationCacheTests {
    @Test func usedEntriesStayAndOthersGo() {
        var cache = GenerationCache<Int, String>(capacity: 8)
        cache.keep("in use", for: 0)
        for key in 1...50 {
            cache.keep("\(key)", for: key)
            #expect(cache.find(0) == "in use")
            #expect(cache.count <= 8)
        }
        #expect(cache.find(50) == "50")
        #expect(cache.find(40) == nil)
    }

    @Test func aValueIsReplaced() {
        var cache = GenerationCache<Int, String>(capacity: 8)
        cache.keep("one", for: 1)
        cache.keep("uno", for: 1)
        #expect(cache.find(1) == "uno")
        #expect(cache.count == 1)
    }
}
