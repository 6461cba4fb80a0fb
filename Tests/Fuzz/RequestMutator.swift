// Makes libFuzzer's inputs resemble requests: sometimes adds an event of the property tests'
// generator, valid, odd or malformed.
internal import TestSupport

@_silgen_name("LLVMFuzzerMutate")
private func mutateBytes(_ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int) -> Int

@_cdecl("LLVMFuzzerCustomMutator")
func mutateRequest(
    _ data: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32
) -> Int {
    var generator = EventGenerator(seed: UInt64(seed))
    guard count > 0, generator.dice.chance(10) else { return mutateBytes(data, count, limit) }
    // The first byte selects the field of the events: see AdmissionFuzzer.
    let eventsField: UInt64 = data[0] & 1 == 0 ? 2 : 1
    let event = generator.event()
    let bytes = WireWriter.message { $0.field(eventsField, event) }
    guard bytes.count <= limit - count else { return mutateBytes(data, count, limit) }
    for (offset, byte) in bytes.enumerated() { data[count + offset] = byte }
    return count + bytes.count
}
