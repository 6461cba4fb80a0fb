// Admitted requests for the tests of acks, made as the server makes them.
internal import SightlineProtos
internal import SwiftProtobuf
package import TrackingRules

package enum TestRequests {
    /// An admitted request with this sequence and no events.
    package static func admitted(_ sequence: UInt64) throws -> AdmittedRequest {
        self.admit(try self.bytes(sequence))
    }

    /// A request whose bytes end in the middle, after a sequence that can still be read.
    package static func malformed(_ sequence: UInt64) throws -> AdmittedRequest {
        self.admit(try self.bytes(sequence) + [0x12])
    }

    private static func bytes(_ sequence: UInt64) throws -> [UInt8] {
        try Sightline_V1_StreamEventsRequest.with { $0.sequence = sequence }.serializedBytes()
    }

    private static func admit(_ bytes: [UInt8]) -> AdmittedRequest {
        let admission = Admission()
        return bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "default",
                receiveTime: 0)
        }
    }
}
