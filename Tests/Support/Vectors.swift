package import Foundation

/// The published vectors of docs/vectors.
package enum Vectors {
    /// The bytes of a file.
    package static func data(_ name: String) throws -> Data {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try Data(contentsOf: root.appending(path: "docs/vectors/\(name).json"))
    }
}
