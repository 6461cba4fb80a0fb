// Admitted requests for the tests of acks, made as the server makes them.
internal import TestSupport
package import TrackingRules

extension AdmittedRequest {
    /// A request with this sequence and no events.
    package static func empty(_ sequence: UInt64) throws -> AdmittedRequest {
        self.admit(try TestEvents.request(sequence))
    }

    /// A request whose bytes end in the middle, after a sequence that can still be read.
    package static func malformed(_ sequence: UInt64) throws -> AdmittedRequest {
        self.admit(try TestEvents.request(sequence) + [0x12])
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
