/* The one function of bcryptprimitives.dll that programs of Rust need, for the Wine that has none. For tests only: on Windows
   the system has it. */
#include <stddef.h>
#include <windows.h>

/* RtlGenRandom. */
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
    while (length > 0) {
        ULONG part = length > 0x10000000 ? 0x10000000 : (ULONG)length;
        if (!SystemFunction036(data, part)) {
            return FALSE;
        }
        data += part;
        length -= part;
    }
    return TRUE;
}
