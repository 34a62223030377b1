import CLatlasProbe

nonisolated(unsafe) let probes = UnsafeMutablePointer<latlas_probe>.allocate(capacity: 1)
nonisolated(unsafe) let pack = UnsafeMutablePointer<latlas_pack>.allocate(capacity: 1)

private func text(_ text: StaticString) -> UnsafePointer<CChar> {
  UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

@_cdecl("latlas_probe_pack") public func latlasProbePack() -> UnsafePointer<latlas_pack> {
  var probe = latlas_probe()
  probe.id = text("@NAME@.append")
  probe.title = text("a number appended to an array")
  probe.operation = text("One append() to an array of Int, which grows from empty to 1024 and is dropped.")
  probe.ops_per_turn = 1024
  probe.run = { _, turns in
    for turn in 0..<turns {
      var numbers: [Int] = []
      for number in 0..<1024 { numbers.append(number &+ Int(truncatingIfNeeded: turn)) }
      withExtendedLifetime(numbers) {}
    }
    return turns
  }
  probes.initialize(to: probe)
  pack.initialize(to: latlas_pack())
  pack.pointee.version = 1
  pack.pointee.count = 1
  pack.pointee.probe_bytes = UInt32(MemoryLayout<latlas_probe>.size)
  pack.pointee.name = text("@NAME@")
  pack.pointee.probes = UnsafePointer(probes)
  pack.pointee.built_with = text("swiftc -O")
  return UnsafePointer(pack)
}
