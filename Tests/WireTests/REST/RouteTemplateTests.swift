import TestSupport
import Testing
import WireTesting

@testable import Protobuf
@testable import REST

/// Tests path templates, and the matching of paths.
@Suite(.timeLimited) struct RouteTemplateTests {
    @Test func templateHasSegmentsVariablesAndVerb() throws {
        let template = try RouteTemplate(parsing: "/v1/{a.b=devices/*}/x/{c}:enable")
        #expect(template.segments == [.literal("v1"), .literal("devices"), .single, .literal("x"), .single])
        #expect(template.variables == [.init("a.b", 1..<3), .init("c", 4..<5)])
        #expect(template.verb == "enable")
        #expect(template.text == "/v1/{a.b=devices/*}/x/{c}:enable")
        #expect(
            template.path { variable, pattern in "<\(variable.field) \(pattern)>" }
                == "/v1/<a.b devices/*>/x/<c *>:enable")
    }

    @Test(arguments: [
        ("", 0, "expected /"), ("v1", 0, "expected /"), ("//", 1, "expected a segment"),
        ("/v1/", 4, "expected a segment"),
        ("/v1/{", 5, "expected the name of a field"), ("/v1/{a", 6, "expected }"),
        ("/v1/{a=}", 7, "expected a segment"),
        ("/v1/{a={b}}", 7, "a variable cannot be within another"), ("/v1/{a}/{a}", 10, "occurs twice"),
        ("/v1/**/b", 7, "** must be the last segment"), ("/v1/{a=**}/{b}", 11, "** must be the last segment"),
        ("/v1/a:", 6, "expected a verb"), ("/v1/a:b/c", 7, "expected / or : or the end"),
        ("/v1/a b", 5, "expected / or : or the end"),
        ("/v1/{1a}", 5, "expected the name of a field"), ("/v1/%41", 4, "expected a segment"),
    ])
    func malformedTemplateIsRefusedAtItsByte(text: String, offset: Int, rule: String) throws {
        let error = try #require(throws: RouteTemplateError.self) { try RouteTemplate(parsing: text) }
        #expect(error.offset == offset)
        #expect(error.rule.contains(rule))
    }

    /// A path expanded from a template matches it with the same values, for templates and values of every kind.
    @Test func expandedTemplateMatchesWithTheSameValues() throws {
        var generator = SeededGenerator(seed: 20)
        let alphabet = Array("ab/%:.~+ é\u{0}".utf8)
        for _ in 0..<2000 {
            let template = try RouteTemplate(parsing: Self.template(&generator))
            let values = template.segments.map { _ in
                (0..<Int.random(in: 1...6, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? 0
                }
            }
            RESTProperties.checkExpansion(of: template) { values[$0] }
        }
    }

    private static func template(_ generator: inout SeededGenerator) -> String {
        var parts: [String] = []
        let count = Int.random(in: 1...5, using: &generator)
        for index in 0..<count {
            let isLast = index == count - 1
            switch Int.random(in: 0...4, using: &generator) {
            case 0: parts.append("{f\(index)}")
            case 1: parts.append("{f\(index).g=a/*}")
            case 2: parts.append("*")
            case 3 where isLast: parts.append("{f\(index)=b/**}")
            default: parts.append("l\(index)")
            }
        }
        return "/" + parts.joined(separator: "/") + (Bool.random(using: &generator) ? ":verb" : "")
    }

    private static func tree(_ templates: [String]) throws -> RouteTree {
        var tree = RouteTree()
        for (index, text) in templates.enumerated() { tree.insert(try RouteTemplate(parsing: text), route: index) }
        return tree
    }

    @Test(arguments: [
        ("/v1/a", [0, 2, 4]), ("/v1/b", [2, 4]), ("/v1/a:go", [1, 3]), ("/v1/b:go", [3]),
        ("/v1/b:stop", [2, 4]),
        ("/v1/a/b/c", [4]), ("/v1", [4]), ("/v1/", [4]), ("/v2", []), ("/", []), ("/v1/a%3Ago", [2, 4]),
    ])
    func closestTemplateIsFirst(path: String, expected: [Int]) throws {
        let tree = try Self.tree(["/v1/a", "/v1/a:go", "/v1/{x}", "/v1/{x}:go", "/v1/{y=**}"])
        #expect(tree.routes(for: try #require(RoutePath(path.utf8))) == expected)
    }

    @Test func rootIsAPathOfItsOwn() throws {
        #expect(try RouteTemplate(parsing: "/").text == "/")
        let tree = try Self.tree(["/", "/a", "/{x}"])
        #expect(tree.routes(for: try #require(RoutePath("/".utf8))) == [0])
        #expect(tree.routes(for: try #require(RoutePath("/a".utf8))) == [1, 2])
        #expect(tree.routes(for: try #require(RoutePath("//".utf8))).isEmpty)
    }

    @Test func pathWithTooManySegmentsIsNone() {
        #expect(RoutePath(String(repeating: "/a", count: 64).utf8) != nil)
        #expect(RoutePath(String(repeating: "/a", count: 65).utf8) == nil)
        #expect(RoutePath("v1".utf8) == nil && RoutePath("".utf8) == nil)
    }

    @Test(arguments: [
        ("/v1/{x}", "/v1/a%2Fb%20c", "a/b c"), ("/v1/{x}", "/v1/a:b", "a:b"), ("/v1/{x}:go", "/v1/a:b:go", "a:b"),
        ("/v1/{x=a/*}", "/v1/a/b%2Fc%20d", "a/b%2Fc d"), ("/v1/{x=**}", "/v1/a/b%2fc", "a/b%2fc"),
        ("/v1/{x=**}", "/v1", ""),
        ("/v1/{x}", "/v1/%", nil), ("/v1/{x=**}", "/v1/a/%4", nil),
    ])
    func escapesAreDecodedByTheSegmentsOfAVariable(template: String, path: String, value: String?) throws {
        let template = try RouteTemplate(parsing: template)
        let path = try #require(RoutePath(path.utf8))
        #expect(path.value(of: template.variables[0], in: template) == value.map { Array($0.utf8) })
    }
}

/// A generator with the same numbers in every run.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
