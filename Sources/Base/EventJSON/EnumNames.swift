internal import SightlineProtos
internal import SwiftProtobuf

/// The names of the contract's enums in JSON, from the descriptors of Protos: for answers, and for
/// whoever describes them.
package struct EnumNames: Sendable {
    /// Verdict.
    package static let verdict = EnumNames("Verdict")
    /// HitKind.
    package static let hitKind = EnumNames("HitKind")
    /// ViolationCode.
    package static let violationCode = EnumNames("ViolationCode")
    /// Warning.
    package static let warning = EnumNames("Warning")

    /// The names, in the order of Protos; the first stands for no value.
    package let names: [String]
    private let byNumber: [Int: String]
    private let enumName: String

    private init(_ name: String) {
        // The descriptors are compiled in. Without them values are told by their numbers.
        let files = (try? DescriptorSet.files()) ?? []
        let declared = files.first { $0.package == "sightline.v1" && $0.declares(name) }?
            .enumType.first { $0.name == name }
        let values = declared?.value ?? []
        self.enumName = name
        self.names = values.map(\.name)
        self.byNumber = Dictionary(
            values.map { (Int($0.number), $0.name) }, uniquingKeysWith: { first, _ in first })
    }

    /// The name of a number; that of the enum and the number, if it has none.
    package func name(of number: Int) -> String {
        self.byNumber[number] ?? "\(self.enumName) \(number)"
    }
}

extension Google_Protobuf_FileDescriptorProto {
    fileprivate func declares(_ name: String) -> Bool {
        self.enumType.contains { $0.name == name }
    }
}
