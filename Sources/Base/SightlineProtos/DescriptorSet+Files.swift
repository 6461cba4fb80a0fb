// The declarations of Protos as messages: for server reflection and for code that derives from
// them.

internal import Foundation
package import SwiftProtobuf

extension DescriptorSet {
    /// The descriptors of all files in Protos and of their imports.
    ///
    /// - Throws: `BinaryDecodingError` if the committed descriptor set is damaged.
    package static func files() throws -> [Google_Protobuf_FileDescriptorProto] {
        let bytes = Data(base64Encoded: self.base64, options: .ignoreUnknownCharacters) ?? Data()
        return try Google_Protobuf_FileDescriptorSet(serializedBytes: bytes).file
    }
}
