// Fuzzes the reading of traceparent and tracestate. An input is the one, a newline, and the other.
// What is taken and what is refused is held to a second reading of W3C Trace Context, by splitting.

internal import TrackingRules
internal import W3CTrace
internal import WireFormat

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzTraceContext(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Bytes(start: data, count: count)
    let end = input.firstIndex(of: UInt8(ascii: "\n")) ?? count
    // Copies of just their size, so that AddressSanitizer sees a read beyond either.
    let (traceparent, tracestate) = ([UInt8](input[..<end]), [UInt8](input[end...].dropFirst()))
    let context = traceparent.withUnsafeBytes { traceparent in
        tracestate.withUnsafeBytes { TraceContext(traceparent: traceparent, tracestate: $0) }
    }
    let isSound = TraceContextReference.isSound(traceparent: traceparent)
    require((context != nil) == isSound, "traceparent is sound: \(isSound), and the reader differs")
    guard let context else { return 0 }

    let isKept = TraceContextReference.isSound(tracestate: tracestate)
    require(
        context.tracestate.utf8.elementsEqual(isKept ? tracestate : []),
        "tracestate is sound: \(isKept), and the reader kept \(context.tracestate)")
    let written = [UInt8](context.traceparent.utf8)
    require(written[2..<53] == traceparent[2..<53], "the ids do not come back as they went in")
    let again = written.withUnsafeBytes { written in
        tracestate.withUnsafeBytes { TraceContext(traceparent: written, tracestate: $0) }
    }
    require(again == context, "what was written reads as another context")
    let header = HitEncoding.header(
        entryCount: 0, entriesBytes: 0, receiveTime: 0, tenant: "", trace: context)
    require(
        header.suffix(written.count + context.tracestate.utf8.count)
            == written + context.tracestate.utf8, "the journal's header holds another context")
    return 0
}

/// The specification once more, in another way than TrackingCore's: by splitting at the marks.
private enum TraceContextReference {
    static func isSound(traceparent: [UInt8]) -> Bool {
        let dash = UInt8(ascii: "-")
        let parts = traceparent.split(separator: dash, omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[..<4].map(\.count) == [2, 32, 16, 2],
            parts[..<4].allSatisfy({ $0.allSatisfy(Self.isLowerHex) })
        else { return false }
        let version = [UInt8](parts[0])
        let isZero = { (id: ArraySlice<UInt8>) in id.allSatisfy { $0 == UInt8(ascii: "0") } }
        return version != [UInt8]("ff".utf8) && !isZero(parts[1]) && !isZero(parts[2])
            && (version != [UInt8]("00".utf8) || parts.count == 4)
    }

    static func isSound(tracestate: [UInt8]) -> Bool {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let members = tracestate.split(separator: UInt8(ascii: ","))
            .filter { !$0.allSatisfy(isSpace) }
            .map { [UInt8]($0.drop(while: isSpace).reversed().drop(while: isSpace).reversed()) }
        let pairs = members.map {
            $0.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
        }
        return tracestate.count <= 512 && (1...32).contains(members.count)
            && pairs.allSatisfy { $0.count == 2 && Self.isKey($0[0]) && Self.isValue($0[1]) }
            && Set(pairs.compactMap(\.first)).count == members.count
    }

    private static func isKey(_ key: ArraySlice<UInt8>) -> Bool {
        let names = key.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard names.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isKeyByte) }) else {
            return false
        }
        let isLetter = { (byte: UInt8?) in byte.map { $0 >= 0x61 && $0 <= 0x7a } ?? false }
        if names.count == 1 { return isLetter(key.first) && key.count <= 256 }
        return names.count == 2 && !"_-*/".utf8.contains(names[0].first ?? 0)
            && names[0].count <= 241 && isLetter(names[1].first) && names[1].count <= 14
    }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "a"..."z", "0"..."9", "_", "-", "*", "/": true
        default: false
        }
    }

    private static func isValue(_ value: ArraySlice<UInt8>) -> Bool {
        !value.isEmpty && value.count <= 256 && value.allSatisfy { $0 >= 0x20 && $0 <= 0x7e }
    }

    private static func isLowerHex(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "0"..."9", "a"..."f": true
        default: false
        }
    }
}
