internal import Foundation

/// Parses `name=value,name=value`, the format of OpenTelemetry's variables for headers and resource
/// attributes.
package enum NameValueList {
    /// The rule for a list, for error messages.
    package static let rule =
        "has to be a list as in name=value,name=value, with commas in values as %2C"

    /// Parses a list with percent-encoded values, as in W3C Baggage; nil if any part is malformed.
    /// An empty text is an empty list.
    package static func read(_ text: String) -> [(name: String, value: String)]? {
        var list: [(name: String, value: String)] = []
        for member in text.split(separator: ",") {
            let pair = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else {
                // Tolerate an extra comma.
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

    /// Parses a list of gRPC metadata; nil if a name or value is not valid metadata.
    package static func readMetadata(_ text: String) -> [(name: String, value: String)]? {
        guard let list = Self.read(text) else { return nil }
        let isSound = list.allSatisfy { name, value in
            // Reserved names would make every call fail.
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
