import ObjectFilters

/// Properties of the parser of filters.
enum FilterProperties {
    /// Every kind of term, each way to combine terms, and an error of each kind.
    static let seeds: [[UInt8]] =
        [
            "", "status:verified raw_tags.run=a-b", "raw_tags.\"a\\\"b\\\\\":v AND weather=rain",
            "\"route name\"=\"a b\"",
            "name:run07* OR name:\"run 08\"* OR name=x.mcap", "device:261121-* content_type:video/* trashed=true",
            "size>1MiB size<=1.5GB size=1048576", "created>=2026-11-22 created<2026-11-22T10:00:00.5+08:00",
            "age<7d OR age>=12h OR age>90s", "NOT (rain OR \"Heavy rain\"*) AND (site=1 OR NOT object_id=x)",
            "((k=f(1)))", "k=a)b(c", "ÉTÉ İ", "topic=/camera",
            "begins:run07 begins=x a*b *.mcap begins:\"Heavy rain\"*",
            "topic:/cam* recorded_from>=2026-01-31 recorded_to<2026-02-01T00:00:00Z", "AND", "a OR", "(a", "a)",
            "k=\"open", "k=\"a\\n\"",
            "\u{7F}",
            "a b c d e f g h i j k l m n o p q", "((((((((((((((((((((a", "NOT NOT NOT NOT a",
            "size>99999999999999999999PiB",
            "recorded=yesterday created>=today recorded_from=\"last 7 days\" (recorded=last 30 days)",
            "recorded=last 0 days",
        ].map { Array($0.utf8) }

    /// Checks that an error has a position in the text and names the text there, that a filter is within the limits, that an object
    /// matches either the filter or its negation, and that a rewritten filter has no words.
    static func check(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        let filter: ObjectFilter
        do throws(FilterError) {
            filter = try FilterParser.parse(text)
        } catch {
            precondition((0...text.utf8.count).contains(error.position), "an error is outside of the filter")
            precondition(!error.expected.isEmpty && !error.found.isEmpty, "an error says nothing")
            return
        }
        precondition(text.utf8.count <= FilterParser.maximumBytes, "a filter is too long")
        var terms = 0
        _ = filter.contains { _ in
            terms += 1
            return false
        }
        precondition(terms <= FilterParser.maximumTerms, "a filter has too many terms")
        checkRewriting(text)
        // Evaluation has no limits of its own: every parsed filter can be evaluated.
        let matches = filter.resolved(at: 1_800_000_000).matches(object, tags: ["weather": "rain", "k": "f(1)"])
        precondition(matches != nil, "with all tags known a filter either matches or does not")
        let negated = filter.resolved(at: 1_800_000_000).negated.matches(
            object, tags: ["weather": "rain", "k": "f(1)"])
        precondition(matches != negated, "a filter and its opposite agree")
    }

    private static func checkRewriting(_ text: String) {
        do throws(FilterError) {
            let rewritten = try FilterParser.rewriting(text)
            let filter = try FilterParser.parseForChange(rewritten)
            precondition(!filter.contains { if case .steady(.word) = $0 { true } else { false } }, "a word is left")
        } catch {
            // Filters of earlier versions had no days such as `yesterday`, and `recorded` was the key of a tag, which has no order.
            let isNew =
                (try? FilterParser.parse(text))?.contains { if case .days = $0 { true } else { false } } ?? false
            precondition(isNew || text.contains("recorded"), "a filter cannot be rewritten: \(error)")
        }
    }

    private static let object = {
        var object = FilterSubject(
            id: "x", deviceID: "261121-000001", siteID: 1, size: 1 << 20, createdAt: 1_795_305_600_000_000,
            name: "run07.mcap")
        object.contentType = "video/mp4"
        object.topics = ["/camera"]
        return object
    }()
}

extension ResolvedFilter {
    fileprivate var negated: ResolvedFilter { ResolvedFilter(.not(root)) }
}
