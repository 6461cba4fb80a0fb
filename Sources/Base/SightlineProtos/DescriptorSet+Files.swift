// What Protos declare, as messages: for server reflection, and for what is derived from them.

internal import Foundation
package import SwiftProtobuf

extension DescriptorSet {
    /// The descriptors of all files of Protos, and of all that they import.
    ///
    /// - Throws: `BinaryDecodingError` if the committed descriptor set is damaged.
    package static func files() throws -> [Google_Protobuf_FileDescriptorProto] {
        let bytes = Data(base64Encoded: self.base64, options: .ignoreUnknownCharacters) ?? Data()
        return try Google_Protobuf_FileDescriptorSet(serializedBytes: bytes).file
    }
}
