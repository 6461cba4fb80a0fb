// W3C Trace Context, version 00: which headers are taken, and which start a new trace.

internal import TestSupport
internal import Testing
@testable internal import W3CTrace

struct TraceContextTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"
    private static let sound = "00-\(trace)-\(span)-01"

    private static let taken: [(String, isSampled: Bool)] = [
        (sound, true), ("00-\(trace)-\(span)-00", false), ("00-\(trace)-\(span)-ff", true),
        ("00-\(trace)-\(span)-02", false), ("00-\(trace)-\(span)-03", true),
        ("00-00000000000000000000000000000001-0000000000000001-01", true),
        ("00-80000000000000000000000000000000-\(span)-01", true),
        ("00-\(trace)-ffffffffffffffff-01", true),
        ("01-\(trace)-\(span)-01", true), ("cc-\(trace)-\(span)-01", true),
        ("fe-\(trace)-\(span)-00", false), ("01-\(trace)-\(span)-01-", true),
        ("01-\(trace)-\(span)-01-what-comes", true), ("cc-\(trace)-\(span)-00-.", false),
    ]

    @Test("A sound traceparent is taken, of a later version too", arguments: 0..<14)
    func takenTraceparents(index: Int) throws {
        let (header, isSampled) = Self.taken[index]
        let context = try #require(Self.context(header))
        #expect(context.isSampled == isSampled)
        let ids = header.split(separator: "-")[1...2].joined(separator: "-")
        #expect(context.traceparent == "00-\(ids)-" + (isSampled ? "01" : "00"))
        #expect(context.tracestate.isEmpty)
    }

    private static let refused: [String] = [
        "", "0", "00", "00-", "-", "00-\(trace)", "00-\(trace)-\(span)", "00-\(trace)-\(span)-",
        "00-\(trace)-\(span)-0", "00-\(trace)-\(span)-011", "00-\(trace)-\(span)-01-",
        "00-\(trace)-\(span)-01-what-comes", "01-\(trace)-\(span)-011", "01-\(trace)-\(span)-01.x",
        "cc-\(trace)-\(span)-01 ", "ff-\(trace)-\(span)-01", "ff-\(trace)-\(span)-01-x",
        "FF-\(trace)-\(span)-01", "0A-\(trace)-\(span)-01", "0g-\(trace)-\(span)-01",
        "0-\(trace)-\(span)-001", "00-00000000000000000000000000000000-\(span)-01",
        "00-\(trace)-0000000000000000-01", "00-0AF7651916CD43DD8448EB211C80319C-\(span)-01",
        "00-\(trace)-B7AD6B7169203331-01", "00-\(trace)-\(span)-0A",
        "00-0af7651916cd43dd8448eb211c80319-\(span)-001", "00-\(trace)0-b7ad6b716920333-01",
        "00-0af7651916cd43dd8448eb211c80319z-\(span)-01", "00-\(trace)-b7ad6b716920333.-01",
        "00-\(trace)-\(span)-0x", "00-\(trace)-\(span)-.0", "00_\(trace)-\(span)-01",
        "00-\(trace)_\(span)-01", "00-\(trace)-\(span)_01", " \(sound)", "\(sound) ", "\t\(sound)",
        "00-\(trace)-\(span)-01\0", "00-0af7651916cd43dd8448eb211c8031é-\(span)-01",
        "00-\(trace) \(span)-01", "00--\(trace)-\(span)-1", "{\(sound)}",
        "00-+\(trace.dropFirst())-\(span)-01",
        "/0-\(trace)-\(span)-01", ":0-\(trace)-\(span)-01", "`0-\(trace)-\(span)-01",
    ]

    @Test("A malformed traceparent is no context, whatever its tracestate says", arguments: refused)
    func refusedTraceparents(header: String) {
        #expect(Self.context(header) == nil)
        #expect(Self.context(header, "vendor=1") == nil)
    }

    @Test("A traceparent cut at any byte is no context")
    func cutTraceparents() {
        for length in 0..<Self.sound.utf8.count {
            #expect(Self.context(String(Self.sound.prefix(length))) == nil)
        }
    }

    private static let key256 = String(repeating: "k", count: 256)
    private static let value256 = String(repeating: "v", count: 256)
    private static let members32 = (0..<32).map { "k\($0)=v" }.joined(separator: ",")

    private static let keptStates: [String] = [
        "vendor=1", "a=b,c=d", "a=b, c=d", "a=b\t,\tc=d", " a=b ", "a=b,,c=d", ",a=b", "a=b,",
        "a=b, ,c=d", "a=b,\t,c=d", "a= b", "a=!", "a=~", "k_-*/9=v", "tenant@system=v",
        "0tenant@system=v", "9@z=v", "\(String(repeating: "t", count: 241))@s=v",
        "t@\(String(repeating: "s", count: 14))=v", "\(key256)=v", "k=\(value256)", members32,
        "k=" + value256 + ",l=" + String(repeating: "v", count: 251),
        "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "a=x:y;z<\">'",
    ]

    @Test("A sound tracestate is carried on as it came", arguments: keptStates)
    func keptTracestates(state: String) {
        #expect(Self.context(Self.sound, state)?.tracestate == state)
    }

    private static let droppedStates: [String] = [
        "", ",", " ", ",,, ", "vendor", "vendor=", "=1", "a=b=c", "a==b", "A=b", "aB=c", "a b=c",
        "a =b", "1a=b", "_a=b", "-a=b", "@a=b", "a@=b", "a@b@c=d", "a@1=b", "A@b=c", "a@B=c",
        "_t@s=v", "\(String(repeating: "t", count: 242))@s=v",
        "t@\(String(repeating: "s", count: 15))=v", "\(key256)k=v", "k=\(value256)v",
        "a=b,a=c", "a=b,c=d,a=b", "\(members32),k32=v", "a=b,c", "a=ü", "ü=a", "a=\u{1}", "a=b\nc",
        "a=\u{7f}", "a=b\tc", "a=b,c=", "a.b=c", "a=,b=c", "a=b\0",
        // 513 bytes in all.
        "k=" + value256 + ",l=" + String(repeating: "v", count: 252),
        String(repeating: ",", count: 513),
    ]

    @Test("A malformed tracestate is dropped, and the traceparent kept", arguments: droppedStates)
    func droppedTracestates(state: String) throws {
        let context = try #require(Self.context(Self.sound, state))
        #expect(context.tracestate.isEmpty)
        #expect(context.traceparent == Self.sound)
    }

    @Test("Tracestates of 512 and 513 bytes are what the tables say")
    func lengths() {
        #expect(Self.keptStates.contains { $0.utf8.count == 512 })
        #expect(Self.droppedStates.contains { $0.utf8.count == 513 })
    }

    @Test("A new trace has ids, and a child keeps the trace and takes a span of its own")
    func random() throws {
        var dice = Dice(seed: 1)
        let parent = TraceContext.random(isSampled: true, using: &dice)
        #expect(Self.context(parent.traceparent) == parent)
        let child = parent.child(using: &dice)
        #expect(child.traceID == parent.traceID && child.spanID != parent.spanID)
        #expect(child.isSampled)
    }

    @Test("Any bytes: reading never traps, and what is taken is written as it came")
    func anyBytes() {
        var dice = Dice(seed: Dice.runSeed)
        for _ in 0..<5_000 {
            var header = Array(Self.sound.utf8)
            var state = Array("a=b,tenant@system=value".utf8)
            for _ in 0...dice.below(2) {
                header[dice.below(header.count)] = UInt8(dice.below(256))
                state[dice.below(state.count)] = UInt8(dice.below(256))
            }
            let context = header.withUnsafeBytes { header in
                state.withUnsafeBytes { TraceContext(traceparent: header, tracestate: $0) }
            }
            guard let context else { continue }
            let text = String(decoding: header, as: UTF8.self)
            #expect(context.traceparent.dropFirst(2).prefix(50) == text.dropFirst(2).prefix(50))
            #expect(["", String(decoding: state, as: UTF8.self)].contains(context.tracestate))
        }
    }

    private static func context(_ traceparent: String, _ tracestate: String = "") -> TraceContext? {
        let (parent, state) = (Array(traceparent.utf8), Array(tracestate.utf8))
        return parent.withUnsafeBytes { parent in
            state.withUnsafeBytes { TraceContext(traceparent: parent, tracestate: $0) }
        }
    }
}
