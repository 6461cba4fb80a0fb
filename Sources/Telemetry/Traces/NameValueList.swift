// `name=value,name=value`, as OpenTelemetry's variables hold headers and resource attributes.
internal import Foundation

/// Names with their values, as an operator writes them.
package enum NameValueList {
    /// Reads a list, in which values are percent-encoded as in W3C Baggage; nil where it is
    /// malformed: then nothing of it is taken. An empty text is an empty list.
    package static func read(_ text: String) -> [(name: String, value: String)]? {
        var list: [(name: String, value: String)] = []
        for member in text.split(separator: ",") {
            let pair = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else {
                // A comma too many is no member.
                if member.allSatisfy(\.isWhitespace) { continue }
                return nil
            }
            let name = pair[0].trimmingCharacters(in: .whitespaces)
            let encoded = pair[1].trimmingCharacters(in: .whitespaces)
            guard !name.isEmpty, let value = encoded.removingPercentEncoding else { return nil }
            list.append((name, value))
        }
        return list
    }

    /// Reads a list of gRPC metadata; nil where a name or a value cannot be one.
    package static func readMetadata(_ text: String) -> [(name: String, value: String)]? {
        guard let list = Self.read(text) else { return nil }
        let isSound = list.allSatisfy { name, value in
            // The transport's own names would end every call.
            name.utf8.allSatisfy(Self.isNameByte) && !name.lowercased().hasPrefix("grpc-")
                && !name.lowercased().hasSuffix("-bin")
                && value.utf8.allSatisfy { (0x20...0x7e).contains($0) }
        }
        return isSound ? list.map { ($0.name.lowercased(), $0.value) } : nil
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
        default: false
        }
    }
}
