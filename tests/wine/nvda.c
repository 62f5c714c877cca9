/* Stands in for NVDA's controller client: what it is told goes into the file that HEARKEN_NVDA_LOG names, a line each.
   Words take as long as HEARKEN_NVDA_MS says, or until they are cancelled. HEARKEN_NVDA_AWAY: no NVDA runs. */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#define CALL __declspec(dllexport) unsigned long __stdcall

static volatile LONG cancelled, speaking;

static void note(const char *what, const wchar_t *text)
{
    char utf8[4096] = "";
    FILE *file = fopen(getenv("HEARKEN_NVDA_LOG"), "ab");
    if (!file)
        return;
    if (text)
        WideCharToMultiByte(CP_UTF8, 0, text, -1, utf8, sizeof utf8, NULL, NULL);
    fprintf(file, "%s %s\n", what, utf8);
    fclose(file);
}

CALL nvdaController_testIfRunning(void) { return getenv("HEARKEN_NVDA_AWAY") ? 1722 : 0; }
CALL nvdaController_getProcessId(unsigned long *number) { *number = 1; return 0; }
CALL nvdaController_brailleMessage(const wchar_t *text) { note("braille", text); return 0; }

CALL nvdaController_cancelSpeech(void)
{
    note("cancel", NULL);
    if (speaking)
        InterlockedExchange(&cancelled, 1);
    return 0;
}

CALL nvdaController_speakSsml(const wchar_t *ssml, int symbols, int priority, unsigned char alone)
{
    const char *wanted = getenv("HEARKEN_NVDA_MS");
    int left = wanted ? atoi(wanted) : 100;
    note(symbols == -1 && priority == 0 && !alone ? "speak" : "wrong", ssml);
    InterlockedExchange(&speaking, 1);
    for (; left > 0 && !cancelled; left -= 10)
        Sleep(10);
    InterlockedExchange(&speaking, 0);
    return InterlockedExchange(&cancelled, 0) ? 1223 : 0;
}
