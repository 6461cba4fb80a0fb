// Trace context and baggage in a call's metadata, by W3C's rules: what goes on, and what begins
// anew. What a single value may look like has tables of its own in TraceContextTests.
import GRPCCore
internal import Telemetry
internal import Testing
@testable internal import TrackingServer
internal import W3CTrace

struct PropagationTests {
    private static let trace = "12345678901234567890123456789012"
    private static let span = "1234567890123456"
    private static let sound = "00-\(trace)-\(span)-01"
    private static let members = (1...33).map { "bar\($0)=\($0)" }
    private static let key256 = String(repeating: "z", count: 256)
    private static let allKey = "abcdefghijklmnopqrstuvwxyz0123456789_-*/"
    private static let allValue = String(
        String.UnicodeScalarView(
            (0x20...0x7e).compactMap { Unicode.Scalar($0) }.filter { $0 != "," && $0 != "=" }))
    private static let bag64 = (0..<64).map { "k\($0)=v" }.joined(separator: ",")

    struct Row: Sendable, CustomStringConvertible {
        var headers: [String]
        /// Whether the trace of `sound` goes on; else a new one begins.
        var goesOn = true
        var isSampled = true
        var state = ""
        var baggage: String?

        /// Headers as `name: value`.
        init(
            _ headers: String..., goesOn: Bool = true, isSampled: Bool = true, state: String = "",
            baggage: String? = nil
        ) {
            (self.headers, self.goesOn, self.isSampled) = (headers, goesOn, isSampled)
            (self.state, self.baggage) = (state, baggage)
        }

        static func new(_ headers: String...) -> Row {
            var row = Row(goesOn: false)
            row.headers = headers
            return row
        }

        /// A sound traceparent, and tracestates.
        static func states(_ states: String..., kept: String = "") -> Row {
            var row = Row(state: kept)
            row.headers = ["traceparent: \(sound)"] + states.map { "tracestate: \($0)" }
            return row
        }

        /// A sound traceparent, and baggage.
        static func bags(_ bags: String..., kept: String?) -> Row {
            var row = Row(baggage: kept)
            row.headers = ["traceparent: \(sound)"] + bags.map { "baggage: \($0)" }
            return row
        }

        var metadata: Metadata {
            var metadata = Metadata()
            for header in self.headers {
                let end = header.firstIndex(of: ":") ?? header.startIndex
                metadata.addString(
                    String(header[end...].dropFirst(2)), forKey: String(header[..<end]))
            }
            return metadata
        }

        var description: String { self.headers.joined(separator: " | ") }
    }

    /// Parents: versions, lengths, zeros, cases, white space, doubles.
    static let parents: [Row] = [
        Row("traceparent: \(sound)"),
        Row("traceparent: 00-\(trace)-\(span)-00", isSampled: false),
        Row("traceparent: 00-\(trace)-\(span)-ff"),
        Row("traceparent: 00-\(trace)-\(span)-fe", isSampled: false),
        Row("Traceparent: \(sound)"), Row("TRACEPARENT: \(sound)"),
        Row("traceparent:  \(sound)"), Row("traceparent: \t\(sound)"),
        Row("traceparent: \(sound) "), Row("traceparent: \(sound)\t"),
        Row("traceparent: \t \(sound) \t"),
        Row("traceparent: cc-\(trace)-\(span)-01"), Row("traceparent: 01-\(trace)-\(span)-01"),
        Row("traceparent: cc-\(trace)-\(span)-01-what-the-future-will-be-like"),
        Row("traceparent: fe-\(trace)-\(span)-01-"),
        .new(), .new("trace-parent: \(sound)"), .new("trace.parent: \(sound)"),
        .new("traceparent: "), .new("traceparent: \(sound)", "traceparent: \(sound)"),
        .new("traceparent: \(sound)", "Traceparent: 00-\(trace)-1234567890123457-01"),
        .new("traceparent: \(sound),\(sound)"), .new("traceparent: \(sound)."),
        .new("traceparent: \(sound)-"), .new("traceparent: \(sound)-what-the-future"),
        .new("traceparent: cc-\(trace)-\(span)-01.what-the-future"),
        .new("traceparent: ff-\(trace)-\(span)-01"), .new("traceparent: .0-\(trace)-\(span)-01"),
        .new("traceparent: 0.-\(trace)-\(span)-01"), .new("traceparent: 000-\(trace)-\(span)-01"),
        .new("traceparent: 0000-\(trace)-\(span)-01"), .new("traceparent: 0-\(trace)-\(span)-01"),
        .new("traceparent: 0A-\(trace)-\(span)-01"),
        .new("traceparent: 00-00000000000000000000000000000000-\(span)-01"),
        .new("traceparent: 00-.2345678901234567890123456789012-\(span)-01"),
        .new("traceparent: 00-1234567890123456789012345678901.-\(span)-01"),
        .new("traceparent: 00-\(trace)3-\(span)-01"),
        .new("traceparent: 00-1234567890123456789012345678901-\(span)-01"),
        .new("traceparent: 00-ABCDEF78901234567890123456789012-\(span)-01"),
        .new("traceparent: 00-\(trace)-0000000000000000-01"),
        .new("traceparent: 00-\(trace)-.234567890123456-01"),
        .new("traceparent: 00-\(trace)-123456789012345.-01"),
        .new("traceparent: 00-\(trace)-\(span)7-01"),
        .new("traceparent: 00-\(trace)-123456789012345-01"),
        .new("traceparent: 00-\(trace)-ABCDEF7890123456-01"),
        .new("traceparent: 00-\(trace)-\(span)-.0"), .new("traceparent: 00-\(trace)-\(span)-0."),
        .new("traceparent: 00-\(trace)-\(span)-001"), .new("traceparent: 00-\(trace)-\(span)-1"),
        .new("traceparent: 00-\(trace)-\(span)-0A"), .new("traceparent: 00-\(trace)-\(span)"),
    ]

    /// States: doubles, limits of members and lengths, characters, white space.
    static let states: [Row] = [
        .new("tracestate: foo=1"), .new("traceparent: 00-\(trace)-\(span)", "tracestate: foo=1"),
        .states("foo=1,bar=2", kept: "foo=1,bar=2"), .states(""),
        Row("traceparent: \(sound)", "trace-state: foo=1"),
        Row("traceparent: \(sound)", "TraceState: foo=1", state: "foo=1"),
        .states("foo=1", "", kept: "foo=1,"), .states("", "foo=1", kept: ",foo=1"),
        .states("foo=1,bar=2", "rojo=1,congo=2", "baz=3", kept: "foo=1,bar=2,rojo=1,congo=2,baz=3"),
        .states("foo=1,foo=1"), .states("foo=1,foo=2"), .states("foo=1", "foo=1"),
        .states("foo=1", "foo=2"),
        .states("\(allKey)=\(allValue)", kept: "\(allKey)=\(allValue)"),
        .states("\(allKey)@a-z0-9_-*/=\(allValue)", kept: "\(allKey)@a-z0-9_-*/=\(allValue)"),
        .states("foo=1 \t , \t bar=2", kept: "foo=1 \t , \t bar=2"),
        .states(" foo=1", kept: "foo=1"), .states("\tfoo=1", kept: "foo=1"),
        .states("foo=1 ", kept: "foo=1"), .states("\t foo=1 \t", kept: "foo=1"),
        .states("foo =1"), .states("FOO=1"), .states("foo.bar=1"), .states("foo@=1,bar=2"),
        .states("@foo=1,bar=2"), .states("foo@@bar=1,bar=2"), .states("foo@bar@baz=1,bar=2"),
        .states(
            members[..<32].joined(separator: ","), kept: members[..<32].joined(separator: ",")),
        .states(members.joined(separator: ",")),
        .states(members[..<30].joined(separator: ","), members[30...].joined(separator: ",")),
        .states("foo=1", "\(key256)=1", kept: "foo=1,\(key256)=1"),
        .states("foo=1", "\(key256)z=1"), .states("foo=bar=baz"), .states("foo=,bar=3"),
    ]

    /// Baggage: limits, doubles, malformed members.
    static let bags: [Row] = [
        .bags("a=1", kept: "a=1"), .bags("a=1;p=2, b=3", kept: "a=1;p=2,b=3"),
        .bags("a=1", "b=2", kept: "a=1,b=2"), .bags("a=1", "", kept: "a=1"),
        .bags(" a=1 ", kept: "a=1"), .bags("", kept: nil), .bags("a", kept: nil),
        .bags("a=1,b", kept: nil), .bags("a b=1", kept: nil), .bags("a=\"1\"", kept: nil),
        .bags(bag64, kept: bag64), .bags(bag64, "k64=v", kept: bag64),
        Row("traceparent: nonsense", "baggage: a=1", goesOn: false, baggage: "a=1"),
        Row("baggage: a=1", goesOn: false, baggage: "a=1"),
        Row("traceparent: \(sound)", "Baggage: a=1", baggage: "a=1"),
    ]

    @Test("metadata give the context that W3C's rules say", arguments: parents + states + bags)
    func table(_ row: Row) throws {
        let context = TraceContext(row.metadata)
        #expect((context != nil) == row.goesOn)
        if let context {
            #expect(context.traceparent.hasPrefix("00-\(Self.trace)-\(Self.span)-"))
            #expect(context.isSampled == row.isSampled)
            #expect(context.tracestate == row.state)
        }
        #expect(Baggage(row.metadata)?.header == row.baggage)
        // Whatever came, the request has a place of its own.
        var trace = RequestTrace(method: "a/b", metadata: row.metadata)
        let own = trace.begin(nil, receiveTime: 0).context
        #expect((own.traceID == context?.traceID) == row.goesOn)
        #expect(own.spanID != context?.spanID && own.spanID != 0)
        #expect(own.tracestate == row.state)
    }

    @Test("the table has W3C's cases, a hundred of them")
    func size() {
        #expect(Self.parents.count + Self.states.count + Self.bags.count == 100)
    }
}
